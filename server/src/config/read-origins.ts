/** Origins as browsers send them, separated by commas. */
export function readOrigins(text: string | undefined, problems: string[]): string[] {
  const given = (text ?? '').split(',').map((each) => each.trim())
  const origins = given.filter((each) => each !== '')
  for (const each of origins) {
    if (URL.parse(each)?.origin !== each)
      problems.push(`cors-origins has "${each}", which is not an origin such as https://ops.example.com`)
  }
  return origins
}
