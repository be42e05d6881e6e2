// Calls of the API for an assistant, and their results.

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

/** Calls the API with the caller of the request. */
export type CallApi = (call: ApiCall) => Promise<ApiAnswer>

/** Larger responses are of no use to an assistant, and are held in memory as a whole. */
export const maxAnswerBytes = 1024 * 1024
export const tooLarge = 'The result is too large. Ask for fewer, or for one of them.'

/**
 * Combines the results of several calls, made one after the other, in one object. A restricted key may not be allowed to make
 * all of them, so an error takes the place of its result. If all calls fail, the whole call fails.
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

/** The parts of an error that a caller can act on. The texts of the API are suitable for assistants, too. */
export function refusalOf({ status, text, isJson, headers }: ApiAnswer): Record<string, unknown> {
  if (!isJson) return { status, message: status === 413 ? tooLarge : `The service answered ${status}.` }
  const { code, message, detail, field, position, deviceIds } = JSON.parse(text)
  const wait = headers['retry-after']
  return {
    ...{ code, message, status, detail, field, position, deviceIds },
    ...(wait !== undefined && { retryAfterSeconds: Number(wait) }),
  }
}
