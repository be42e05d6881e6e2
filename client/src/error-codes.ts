// Written by `npm run generate` from the error catalogue; do not edit.

export const errorCodes = [
  'J-001',
  'J-002',
  'J-301',
  'J-302',
  'J-303',
  'J-304',
  'J-305',
  'J-306',
  'J-307',
  'J-308',
  'J-500',
  'J-501',
  'J-502',
  'J-802',
  'J-803',
  'J-804',
  'J-805',
  'J-806',
  'J-807',
  'J-808',
  'J-809',
  'J-900',
  'J-901',
  'J-902',
  'J-903',
  'J-904',
  'J-905',
  'J-906',
  'J-907',
  'J-908',
  'J-909',
  'J-910',
] as const

/** What each means is in docs/errors.md. */
export type ErrorCode = (typeof errorCodes)[number]
