// Two threads leave memory behind. Under AddressSanitizer this program has to fail: it shows that
// leaks within parallel regions are not taken for those of OpenMP itself.

int main()
{
    int sum = 0;
#pragma omp parallel for num_threads(2) schedule(static, 1) reduction(+ : sum)
    for (int k = 0; k < 1000; ++k) {
        int* const lost = new int[100]();
        sum += lost[k % 100];
    }
    return sum;
}
