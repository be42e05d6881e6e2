// A person at the console, whose clicks and filled-in fields are counted.

import type { Locator, Page } from 'playwright-core'

export class Operator {
  readonly page: Page
  clicks = 0
  fields = 0

  constructor(page: Page) {
    this.page = page
  }

  async click(target: Locator): Promise<void> {
    this.clicks++
    await target.click()
  }

  press(name: string | RegExp, within: Page | Locator = this.page): Promise<void> {
    return this.click(within.getByRole('button', { name, ...(typeof name === 'string' && { exact: true }) }))
  }

  follow(name: string | RegExp, within: Page | Locator = this.page): Promise<void> {
    return this.click(
      within.getByRole('link', { name, ...(typeof name === 'string' && { exact: true }) }).first(),
    )
  }

  /** With the navigation. */
  openScreen(name: string): Promise<void> {
    return this.click(this.page.getByRole('navigation').getByRole('link', { name }))
  }

  async fill(label: string, text: string, within: Page | Locator = this.page): Promise<void> {
    this.fields++
    // A button of a group may have the label as well.
    await within.getByLabel(label, { exact: true }).and(this.page.locator(':not([type=radio])')).fill(text)
  }

  /** Of a select. */
  async choose(label: string, option: string): Promise<void> {
    this.fields++
    await this.page.getByLabel(label, { exact: true }).selectOption(option)
  }

  get dialog(): Locator {
    return this.page.getByRole('dialog')
  }
}
