// The end of an output, because that is where an error is. The whole may have 10 MiB.

import type { ApiAnswer, CallApi } from './call-api.ts'

/** At least 16,000 characters, each of at most four bytes: what is shown never begins within a character. */
const endBytes = 64 * 1024

export async function readOutputEnd(callApi: CallApi, jobExecutionId: unknown): Promise<ApiAnswer> {
  const path = `/job/api/executions/${jobExecutionId}/output`
  const length = await callApi({ method: 'GET', path, query: { offset: Number.MAX_SAFE_INTEGER } })
  if (length.status >= 400) return length
  const offset = Math.max(0, Number(length.headers['x-output-length']) - endBytes)
  const attempt = Number(length.headers['x-output-attempt'])
  return callApi({ method: 'GET', path, query: { attempt, offset } })
}
