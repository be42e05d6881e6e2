import { InvalidArgumentError, Option } from 'commander'

/** `otherwise` describes the default. */
export function priorityOption(otherwise: string): Option {
  return new Option(
    '--priority <number>',
    `0 to 9: executions with a higher one are offered to a device first (default: ${otherwise})`,
  ).argParser((text) => {
    if (!/^[0-9]$/.test(text)) throw new InvalidArgumentError('It must be 0 to 9.')
    return Number(text)
  })
}
