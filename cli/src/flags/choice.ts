// Flags with a fixed set of values. An invalid value is answered with the valid ones.

import { Argument, InvalidArgumentError, Option } from 'commander'

/** One of the values; case does not matter. */
export function choiceOption<T extends string>(flags: string, text: string, allowed: readonly T[]): Option {
  return new Option(flags, text).choices(allowed).argParser((value: string) => parseChoice(value, allowed))
}

/** The same for an argument. */
export function choiceArgument<T extends string>(
  name: string,
  text: string,
  allowed: readonly T[],
): Argument {
  return new Argument(name, text).choices(allowed).argParser((value: string) => parseChoice(value, allowed))
}

/** Any number of the values: repeated, or comma-separated. */
export function choicesOption<T extends string>(flags: string, text: string, allowed: readonly T[]): Option {
  return new Option(flags, text)
    .choices(allowed)
    .argParser((value: string, before: T[] = []) => [
      ...before,
      ...value.split(',').map((each) => parseChoice(each.trim(), allowed)),
    ])
}

function parseChoice<T extends string>(value: string, allowed: readonly T[]): T {
  const choice = allowed.find((each) => each.toLowerCase() === value.toLowerCase())
  if (choice === undefined) throw new InvalidArgumentError(`Allowed choices are ${near(value, allowed)}.`)
  return choice
}

/** Shortens a long list to the values with the same beginning, if there are any. */
function near(value: string, allowed: readonly string[]): string {
  const start = value.slice(0, 4).toLowerCase()
  const alike = allowed.length > 20 ? allowed.filter((each) => each.startsWith(start)) : []
  return (alike.length > 0 ? alike : allowed).join(', ')
}
