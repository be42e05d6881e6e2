// What axe finds on a page.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

type Violation = { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }

type Axe = { run: (within: string, options: object) => Promise<{ violations: Violation[] }> }

/** Through the debugger, to which the page's content security policy does not apply. */
export async function findViolations(page: Page, within = 'html'): Promise<string[]> {
  await page.locator(within).first().waitFor() // what was just clicked may not be drawn yet
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axeSource)
  const violations = await page.evaluate(async (selector) => {
    const { axe } = window as unknown as { axe: Axe }
    // Only violations are described, and nothing is fetched a second time: both take longer than the rules.
    return (await axe.run(selector, { resultTypes: ['violations'], preload: false })).violations
  }, within)
  return violations.map(
    ({ id, impact, nodes }) =>
      `${impact} ${id}: ${nodes.map((node) => `${node.html} ${node.failureSummary}`).join('\n')}`,
  )
}
