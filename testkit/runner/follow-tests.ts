// node:test follows every promise, to know which test it belongs to (Node 24.22): a tenth of the CPU time of tests that make
// many calls. Its functions need that where a file defines its tests; while they run, it is off. An error that nobody
// catches then fails the process without the name of its test, so it is printed with its stack.
// Loaded into a process of tests before node:test is.

import asyncHooks, { type AsyncHook } from 'node:async_hooks'

const { createHook } = asyncHooks
let following: AsyncHook | undefined

Object.assign(asyncHooks, {
  createHook(...args: Parameters<typeof createHook>) {
    const hook = createHook(...args)
    // The first is that of node:test; others are left alone.
    following ??= hook
    return hook
  },
})

for (const event of ['uncaughtException', 'unhandledRejection'])
  process.on(event, (error) => console.error(event, error))

export function followTests(isWanted: boolean): void {
  if (isWanted) following?.enable()
  else following?.disable()
}
