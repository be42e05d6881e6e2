// Runs a printed curl command on a machine that may not have curl.

type Done = { status: number; text: string }

export async function doCurlLine(line: string): Promise<Done> {
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
  const [, ...rest] = words
  const headers: Record<string, string> = {}
  let url = ''
  let body: string | undefined
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '-H') {
      const [name = '', value = ''] = (rest.shift() ?? '').split(': ')
      headers[name] = value
    } else if (word === '-d') body = rest.shift()
    else if (!word.startsWith('-')) url = word
  }
  const method = body === undefined ? 'GET' : 'POST'
  const response = await fetch(url, { method, headers, ...(body !== undefined && { body }) })
  return { status: response.status, text: await response.text() }
}
