import { InvalidArgumentError, Option } from 'commander'

/** `otherwise`: what holds without it. */
export function priorityOption(otherwise: string): Option {
  return new Option(
    '--priority <number>',
    `0 to 9: of what waits on a device, a higher one is offered first (default: ${otherwise})`,
  ).argParser((text) => {
    if (!/^[0-9]$/.test(text)) throw new InvalidArgumentError('It must be 0 to 9.')
    return Number(text)
  })
}
