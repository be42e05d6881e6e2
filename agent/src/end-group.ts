// Ends a process group for good. There is no event for the end of a group, so its end is looked for.

import { setTimeout as rest } from 'node:timers/promises'
import { listProcesses } from './list-processes.ts'

/** After KILL only the kernel can keep one alive; it is not waited for longer than this. */
const afterKillMs = 2000
const firstLookMs = 5
const slowestLookMs = 100

/** Resolves when nothing of it is left, or what is left cannot be ended. */
export async function endGroup(group: number, graceMs: number): Promise<void> {
  signalGroup(group, 'SIGTERM')
  if (await waitUntilGone(group, graceMs)) return
  signalGroup(group, 'SIGKILL')
  await waitUntilGone(group, afterKillMs)
}

export async function waitUntilGone(group: number, ms: number): Promise<boolean> {
  const until = performance.now() + ms
  for (let pause = firstLookMs; isGroupAlive(group); pause = Math.min(2 * pause, slowestLookMs)) {
    const left = until - performance.now()
    if (left <= 0) return false
    await rest(Math.min(pause, left))
  }
  return true
}

export function isGroupAlive(group: number): boolean {
  if (!signalGroup(group, 0)) return false
  // Where nobody collects the dead, they stay in their group; only Linux shows which they are.
  const all = listProcesses()
  return all.length === 0 || all.some((each) => each.group === group && !each.isZombie)
}

/** False: there is no such group. */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal)
    return true
  } catch (error) {
    // EPERM: it is there, but of another user.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
