// Calls of the API for an assistant, and what they return.

export type ApiCall = {
  method: 'GET' | 'POST'
  path: string
  query?: Record<string, unknown>
  body?: object
}

export type ApiAnswer = {
  status: number
  text: string
  isJson: boolean
  headers: Readonly<Record<string, unknown>>
}

/** As the caller of the request. */
export type CallApi = (call: ApiCall) => Promise<ApiAnswer>

/** More is of no use to an assistant, and would be in memory at once. */
export const maxAnswerBytes = 1024 * 1024
export const tooLarge = 'The result is too large. Ask for fewer, or for one of them.'

/**
 * Several calls as one object, one after the other. A key that is restricted may not make each of them, so a call that is
 * refused stands in its place. Refused as a whole if all are.
 */
export async function readEach(
  callApi: CallApi,
  calls: Readonly<Record<string, ApiCall>>,
): Promise<ApiAnswer> {
  const parts: [string, unknown][] = []
  let refusal: ApiAnswer | undefined
  for (const [name, call] of Object.entries(calls)) {
    const answer = await callApi(call)
    if (answer.status >= 400) refusal ??= answer
    parts.push([name, answer.status >= 400 ? { refused: refusalOf(answer) } : JSON.parse(answer.text)])
  }
  if (refusal && parts.every(([, part]) => (part as { refused?: unknown }).refused)) return refusal
  const text = JSON.stringify(Object.fromEntries(parts))
  return { status: 200, text, isJson: true, headers: {} }
}

/** What somebody can act on. The words of the API are for people who can, and so for assistants. */
export function refusalOf({ status, text, isJson, headers }: ApiAnswer): Record<string, unknown> {
  if (!isJson) return { status, message: status === 413 ? tooLarge : `The service answered ${status}.` }
  const { code, message, detail, field, position, deviceIds } = JSON.parse(text)
  const wait = headers['retry-after']
  return {
    ...{ code, message, status, detail, field, position, deviceIds },
    ...(wait !== undefined && { retryAfterSeconds: Number(wait) }),
  }
}
