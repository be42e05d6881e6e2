// Restrictions of keys, roles and trust rules.

import Type from 'typebox'
import { mustBe } from './text.ts'

/** The maximum number of jobs, and of addresses. */
export const maxRestrictions = 64

const jobPattern = '^[^*\\x00-\\x1f\\x7f]{1,128}$|^[^*\\x00-\\x1f\\x7f]{0,128}\\*$'
/** The name of a job, or with `*` at the end a prefix of names. */
export const JobPattern = Type.String({
  pattern: jobPattern,
  [mustBe]: 'the name of a job, or the beginning of one with * at the end',
  examples: ['update-*'],
})
/** An address or a range. The pattern is not exact; the value is checked when a key is created. */
export const AddressRange = Type.String({
  pattern: '^[0-9A-Fa-f:.]{2,45}(?:/[0-9]{1,3})?$',
  [mustBe]: 'an address, or a range such as 10.0.0.0/8',
  examples: ['10.0.0.0/8'],
})

const jobRule = new RegExp(jobPattern, 'u')

export function isJobPattern(text: string): boolean {
  return jobRule.test(text)
}

const bounds = { minItems: 1, maxItems: maxRestrictions, uniqueItems: true }

export const restrictionFields = {
  jobs: Type.Array(JobPattern, {
    ...bounds,
    description:
      'Only these jobs, their runs and their executions exist for the key. Names, or beginnings of names with `*` at the ' +
      'end. Not with ADMIN',
  }),
  where: Type.String({
    minLength: 1,
    [mustBe]: 'a selector such as tag=kiosk',
    examples: ['tag=kiosk and site=berlin'],
    description:
      'Only the devices that this selector matches exist for the key, with their executions and the counts of those. It is ' +
      'judged by tags, by device ids and by attributes that the owner has set: a bare name means `own.NAME`. Reported ' +
      'attributes, device names, `online` and groups are rejected. Not with ADMIN',
  }),
  addresses: Type.Array(AddressRange, {
    ...bounds,
    description: 'The key is valid only for requests from these addresses or ranges',
  }),
}
