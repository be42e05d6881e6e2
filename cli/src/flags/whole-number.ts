// Arguments that are whole numbers.

import { InvalidArgumentError } from 'commander'

/** For commander: turns a text into a number, or says what is wrong with it. */
export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
    if (!Number.isSafeInteger(number) || number < least)
      throw new InvalidArgumentError(`It must be a whole number from ${least} on.`)
    return number
  }
}

/** A jobExecutionId or a runId. `#12` is how lists and progress show one. */
export function idNumber(text: string): number {
  return wholeNumber(1)(text.replace(/^#/, ''))
}
