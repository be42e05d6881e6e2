// What axe finds on a page.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

type Violation = { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }

/** By the debugger's way, which no policy of the page is in. */
export async function findViolations(page: Page): Promise<string[]> {
  await page.evaluate(axeSource)
  const violations: Violation[] = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run: () => Promise<{ violations: Violation[] }> } }
    return (await axe.run()).violations
  })
  return violations.map(
    ({ id, impact, nodes }) =>
      `${impact} ${id}: ${nodes.map((node) => `${node.html} ${node.failureSummary}`).join('\n')}`,
  )
}
