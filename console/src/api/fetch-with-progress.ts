// A fetch that reports upload progress, which the browser's fetch does not support.

export function fetchWithProgress(onSent: (bytes: number) => void): typeof fetch {
  return async (url, init = {}) => {
    const request = new XMLHttpRequest()
    request.open(init.method ?? 'GET', String(url))
    request.responseType = 'text'
    new Headers(init.headers).forEach((value, name) => {
      request.setRequestHeader(name, value)
    })
    request.upload.onprogress = ({ loaded }) => onSent(loaded)
    const abort = () => request.abort()
    init.signal?.addEventListener('abort', abort)
    try {
      await new Promise<void>((resolve, reject) => {
        request.onload = () => resolve()
        request.onerror = () => reject(new TypeError('the connection was lost'))
        request.onabort = () => reject(new DOMException('aborted', 'AbortError'))
        request.send(init.body as Blob)
      })
    } finally {
      init.signal?.removeEventListener('abort', abort)
    }
    const type = request.getResponseHeader('content-type')
    return new Response(request.responseText, {
      status: request.status,
      headers: type === null ? {} : { 'content-type': type },
    })
  }
}
