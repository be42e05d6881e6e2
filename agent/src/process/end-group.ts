// Ends a process group. The system has no event for the end of a group, so it is polled.

import { setTimeout as sleep } from 'node:timers/promises'
import { listProcesses } from './list-processes.ts'

/** After SIGKILL only the kernel can keep a process alive; do not wait for it longer than this. */
const afterKillMs = 2000
const firstPollMs = 5
const slowestPollMs = 100

/** Resolves when the group is gone, or what is left of it cannot be killed. */
export async function endGroup(group: number, graceMs: number): Promise<void> {
  signalGroup(group, 'SIGTERM')
  if (await waitUntilGone(group, graceMs)) return
  signalGroup(group, 'SIGKILL')
  await waitUntilGone(group, afterKillMs)
}

export async function waitUntilGone(group: number, ms: number): Promise<boolean> {
  const until = performance.now() + ms
  for (let pause = firstPollMs; isGroupAlive(group); pause = Math.min(2 * pause, slowestPollMs)) {
    const left = until - performance.now()
    if (left <= 0) return false
    await sleep(Math.min(pause, left))
  }
  return true
}

export function isGroupAlive(group: number): boolean {
  if (!signalGroup(group, 0)) return false
  // Zombies that nobody reaps stay in their group; only Linux shows which processes are zombies.
  const all = listProcesses()
  return all.length === 0 || all.some((each) => each.group === group && !each.isZombie)
}

/** Returns false if there is no such group. */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal)
    return true
  } catch (error) {
    // EPERM: the group exists but belongs to another user.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
