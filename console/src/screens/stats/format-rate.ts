/** "99.9 %"; values below 100 % are never rounded up to it. */
export function formatRate(share: number): string {
  return `${share > 0.99 ? Math.floor(share * 1000) / 10 : Math.round(share * 100)} %`
}
