// Reports invalid filters in the address, because the list is then larger than the link suggests.

import { search } from '../router.ts'
import { Icon } from './icon.tsx'

/** Checks the values of each filter in the address. */
export type FilterRules = Record<string, (value: string) => boolean>

export const isOneOf =
  (values: readonly string[]) =>
  (value: string): boolean =>
    values.includes(value)

/** Several values, separated by commas. */
export const areOf =
  (values: readonly string[]) =>
  (value: string): boolean =>
    value.split(',').every((each) => values.includes(each))

export const isInstant = (value: string) => !Number.isNaN(Date.parse(value))

export const isNumber = (value: string) =>
  /^[1-9]\d{0,15}$/.test(value) && Number.isSafeInteger(Number(value))

/** The value of a filter, or undefined if it is missing or invalid. */
export function filterOf(name: string, rules: FilterRules): string | undefined {
  const value = search.value.get(name)
  return value && rules[name]?.(value) ? value : undefined
}

export function WrongFilters({ rules }: { rules: FilterRules }) {
  const wrong = [...search.value].filter(([name, value]) => value !== '' && rules[name]?.(value) === false)
  if (wrong.length === 0) return null
  return (
    <div class="error-note" role="alert">
      <Icon name="warning" />
      <p>
        <strong>Invalid filter, not applied:</strong>{' '}
        {wrong.map(([name, value]) => `${name}=${value}`).join(', ')}
      </p>
    </div>
  )
}
