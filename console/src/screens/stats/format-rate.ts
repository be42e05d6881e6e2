/** "99.9 %", and never 100 % when it is less. */
export function formatRate(share: number): string {
  return `${share > 0.99 ? Math.floor(share * 1000) / 10 : Math.round(share * 100)} %`
}
