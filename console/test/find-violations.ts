// Violations that axe finds on a page.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { testSize } from '@jobcast/testkit/test-size'
import type { Page } from 'playwright-core'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

type Violation = { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }

type Axe = { run: (within: string, options: object) => Promise<{ violations: Violation[] }> }

const withColoursEverywhere = testSize('withColours', { test: 0, chaos: 1 }) === 1

/**
 * Through the debugger, to which the page's content security policy does not apply. Colours come from the theme, and
 * looking at them takes longer than everything else: `npm test` does it where accessibility.test.ts asks for it.
 */
export async function findViolations(
  page: Page,
  within = 'html',
  { withColours = withColoursEverywhere } = {},
): Promise<string[]> {
  await page.locator(within).first().waitFor() // what was just clicked may not be drawn yet
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axeSource)
  // Only violations are described, and nothing is fetched a second time: both take longer than the rules.
  const options = {
    resultTypes: ['violations'],
    preload: false,
    rules: { 'color-contrast': { enabled: withColours } },
  }
  const violations = await page.evaluate(
    async (asked) => {
      const { axe } = window as unknown as { axe: Axe }
      return (await axe.run(asked.within, asked.options)).violations
    },
    { within, options },
  )
  return violations.map(
    ({ id, impact, nodes }) =>
      `${impact} ${id}: ${nodes.map((node) => `${node.html} ${node.failureSummary}`).join('\n')}`,
  )
}
