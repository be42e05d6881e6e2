// Arguments that are integers.

import { InvalidArgumentError } from 'commander'

/** For commander. */
export function wholeNumber(min: number): (text: string) => number {
  return (text) => {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
    if (!Number.isSafeInteger(number) || number < min)
      throw new InvalidArgumentError(`It must be an integer of at least ${min}.`)
    return number
  }
}

/** A jobExecutionId or a runId. `#12` is how lists and progress show one. */
export function idNumber(text: string): number {
  return wholeNumber(1)(text.replace(/^#/, ''))
}
