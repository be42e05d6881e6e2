import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, type Scope } from '@jobcast/contract'
import type { Store } from '../../../src/domain/common/ports/store.ts'
import { anyTime } from '../../../src/domain/window/any-time.ts'
import { windowForRun } from '../../../src/domain/window/run-window.ts'

/** There are two windows: nights and days. */
const store = {
  getWindow: async ({ windowName }: { windowName: string }) =>
    ['nights', 'days'].includes(windowName) ? { windowName } : undefined,
} as unknown as Store
const caller = (...scopes: Scope[]) => ({ keyId: 'k', ownerNo: 1, ownerId: 'o', scopes })
const trigger = caller('TRIGGER')
const manager = caller('TRIGGER', 'MANAGE')

type Asked = Parameters<typeof windowForRun>[3]
const ask = (by: typeof trigger, job: { window?: string }, asked: Asked) =>
  windowForRun({ store }, by, job, asked).then(
    ({ window }) => window,
    (error) =>
      error instanceof ApiError ? `${error.code} ${error.details.field ?? error.details.suffix}` : error,
  )

const cases: [string, typeof trigger, { window?: string }, Asked, string | null | undefined][] = [
  ['nothing', trigger, { window: 'nights' }, {}, undefined],
  ['a window for a job without one', trigger, {}, { window: 'days' }, 'days'],
  ['the window of its job', trigger, { window: 'nights' }, { window: 'nights' }, 'nights'],
  ['another window than that of its job', trigger, { window: 'nights' }, { window: 'days' }, 'J-804 MANAGE'],
  ['the same as a manager', manager, { window: 'nights' }, { window: 'days' }, 'days'],
  ['a window that does not exist', trigger, {}, { window: 'gone' }, 'J-311 window'],
  ['to ignore windows', trigger, {}, { ignoreWindows: true, note: 'urgent' }, 'J-804 MANAGE'],
  ['the same as a manager, with a note', manager, {}, { ignoreWindows: true, note: 'urgent' }, anyTime],
  ['the same without a note', manager, {}, { ignoreWindows: true, note: ' ' }, 'J-500 note'],
  ['both', manager, {}, { ignoreWindows: true, window: 'days', note: 'urgent' }, 'J-500 window'],
]
for (const [title, by, job, asked, answer] of cases) {
  test(`a run that asks for ${title}: ${answer}`, async () => {
    assert.equal(await ask(by, job, asked), answer)
  })
}
