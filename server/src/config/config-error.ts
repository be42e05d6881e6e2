/** Settings that cannot be used: all that is wrong with them. */
export class ConfigError extends Error {
  readonly problems: readonly string[]
  constructor(problems: string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}
