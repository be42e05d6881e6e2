// Percentages with up to three decimals, computed in whole thousandths of a percent to avoid rounding errors.

const whole = 100_000

/** How many of `total` are at least this share. */
export function countOfShare(percent: number, total: number): number {
  return Math.ceil((total * thousandths(percent)) / whole)
}

/** Whether `part` is at least this share of `total`. */
export function isShare(part: number, percent: number, total: number): boolean {
  return part * whole >= thousandths(percent) * total
}

function thousandths(percent: number): number {
  return Math.round(percent * 1000)
}
