// The schema of one parameter.

import type { ParameterValue } from './template.ts'

export const scalarTypes = ['string', 'number', 'integer', 'boolean'] as const

export type ScalarType = (typeof scalarTypes)[number]

/** A parameter, or with a scalar type the items of an array. */
export type ParameterProperty = {
  type: ScalarType | 'array'
  title?: string
  description?: string
  default?: ParameterValue
  examples?: unknown[]
  deprecated?: boolean
  /** A secret. */
  writeOnly?: boolean
  enum?: ParameterValue[]
  const?: ParameterValue
  minLength?: number
  maxLength?: number
  pattern?: string
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  exclusiveMaximum?: number
  multipleOf?: number
  items?: ParameterProperty
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
}
