// The exact format of all error responses.

import assert from 'node:assert/strict'
import { type ErrorCode, errorCatalogue, type Scope } from '@jobcast/contract'

type Answer = { status: number; text: string; body?: string }

export function errorText(code: ErrorCode, scope?: Scope): string {
  const { status, message } = errorCatalogue[code]
  return JSON.stringify({ code, message: scope ? `${message}: ${scope}` : message, status })
}

/** Exactly the three fields of this code; for J-804 the missing scope is named. */
export function assertRefused(answer: Answer, code: ErrorCode, scope?: Scope): void {
  assert.equal(answer.body ?? answer.text, errorText(code, scope))
  assert.equal(answer.status, errorCatalogue[code].status)
}
