// Reads the end of an output, because errors are usually there. The whole output can have 10 MiB.

import type { ApiAnswer, CallApi } from './call-api.ts'

/** Enough for 16,000 characters of up to four bytes, so the shown text never begins within a character. */
const endBytes = 64 * 1024

export async function readOutputEnd(callApi: CallApi, jobExecutionId: unknown): Promise<ApiAnswer> {
  const path = `/job/api/executions/${jobExecutionId}/output`
  const length = await callApi({ method: 'GET', path, query: { offset: Number.MAX_SAFE_INTEGER } })
  if (length.status >= 400) return length
  const offset = Math.max(0, Number(length.headers['x-output-length']) - endBytes)
  const attempt = Number(length.headers['x-output-attempt'])
  return callApi({ method: 'GET', path, query: { attempt, offset } })
}
