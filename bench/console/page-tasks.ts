import type { Browser, Page } from 'playwright-core'

type TraceEvent = {
  name: string
  pid: number
  tid: number
  dur?: number
  tdur?: number
  args: { name?: string }
}

type PageTask = { wallMs: number; cpuMs: number }

/** The tasks of the page's thread, longest in CPU time first: what other programs take does not count there. */
export async function tasksDuring(
  browser: Browser,
  page: Page,
  work: () => Promise<unknown>,
): Promise<PageTask[]> {
  await browser.startTracing(page, { categories: ['toplevel', '__metadata'] })
  await work()
  const trace = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] }
  const threads = trace.traceEvents
    .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
    .map(({ pid, tid }) => `${pid} ${tid}`)
  return trace.traceEvents
    .filter(({ pid, tid, tdur }) => tdur !== undefined && threads.includes(`${pid} ${tid}`))
    .map(({ dur = 0, tdur = 0 }) => ({ wallMs: dur / 1000, cpuMs: tdur / 1000 }))
    .sort((a, b) => b.cpuMs - a.cpuMs)
}
