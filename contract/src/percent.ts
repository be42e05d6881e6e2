/** A percentage as text, from 0.001% to 100%, with at most three decimals. */
export const percentPattern =
  '^(?:100(?:\\.0{1,3})?|[1-9][0-9]?(?:\\.[0-9]{1,3})?|0\\.(?:[1-9][0-9]{0,2}|0[1-9][0-9]?|00[1-9]))%$'
