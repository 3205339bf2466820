// Two threads add to one number without asking each other. Under ThreadSanitizer this program has
// to fail: it shows that the sanitizer sees into parallel regions.

int main()
{
    int sum = 0;
#pragma omp parallel for num_threads(2) schedule(static, 1)
    for (int k = 0; k < 1000; ++k) {
        sum += k;
    }
    return sum == -1;
}
