/*!
 * iframe-worker 1.0.4, https://github.com/squidfunk/iframe-worker: its TypeScript without types.
 *
 * Copyright (c) 2020-2022 Martin Donath <martin.donath@squidfunk.com>
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy
 * of this software and associated documentation files (the "Software"), to
 * deal in the Software without restriction, including without limitation the
 * rights to use, copy, modify, merge, publish, distribute, sublicense, and/or
 * sell copies of the Software, and to permit persons to whom the Software is
 * furnished to do so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in
 * all copies or substantial portions of the Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
 * IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
 * FITNESS FOR A PARTICULAR PURPOSE AND NON-INFRINGEMENT. IN NO EVENT SHALL THE
 * AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
 * LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING
 * FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS
 * IN THE SOFTWARE.
 */
(() => {
  // Send a message from the worker to the parent window.
  function postMessage(message, origin) {
    parent.postMessage(message, origin || "*")
  }

  // Import scripts into the worker's scope; unlike that of a worker it returns a promise.
  function importScripts(...urls) {
    return urls.reduce((promise, url) => (
      promise.then(() => new Promise(resolve => {
        const script = document.createElement("script")
        script.src = url
        script.onload = resolve
        document.body.appendChild(script)
      }))
    ), Promise.resolve())
  }

  // A worker in an iframe, for pages of file://, from where browsers start no worker.
  class IFrameWorker extends EventTarget {
    constructor(url) {
      super()
      this.url = url

      /* Create iframe to host the worker script */
      const iframe = document.createElement("iframe")
      iframe.hidden = true
      document.body.appendChild(this.iframe = iframe)

      /* Initialize runtime and worker script */
      this.w.document.open()
      this.w.document.write(
        "<html>" +
          "<body>" +
            "<script>" +
              `postMessage=${postMessage};` +
              `importScripts=${importScripts};` +
              "addEventListener(\"error\",({error})=>{" +
                "parent.dispatchEvent(new ErrorEvent(\"error\",{" +
                  `filename:"${url}",` +
                  "error" +
                "}))" +
              "})" +
            "<\/script>" +
            `<script src=${url}?${+Date.now()}><\/script>` +
          "</body>" +
        "</html>"
      )
      this.w.document.close()

      /* Internal listener that proxies message events */
      this.m = ev => {
        if (ev.source === this.w) {
          this.dispatchEvent(new MessageEvent("message", { data: ev.data }))
          if (this.onmessage)
            this.onmessage(ev)
        }
      }

      /* Internal listener that proxies error events */
      this.e = (message, filename, lineno, colno, error) => {
        if (filename === `${this.url}`) {
          const ev = new ErrorEvent("error", {
            message, filename, lineno, colno, error
          })
          this.dispatchEvent(ev)
          if (this.onerror)
            this.onerror(ev)
        }
      }

      /* Register internal listeners and track iframe state */
      onmessage = this.m
      onerror = this.e
      this.r = new Promise((resolve, reject) => {
        this.w.onload = resolve
        this.w.onerror = reject
      })
    }

    terminate() {
      this.iframe.remove()
      onmessage = onerror = null
    }

    postMessage(data) {
      void this.r
        .catch()
        .then(() => {
          this.w.dispatchEvent(
            new MessageEvent("message", structuredClone({ data }))
          )
        })
    }

    get w() {
      return this.iframe.contentWindow
    }
  }

  window.IFrameWorker = IFrameWorker
  if (location.protocol === "file:")
    window.Worker = IFrameWorker
})()
