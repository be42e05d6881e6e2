/** All problems of invalid settings. */
export class ConfigError extends Error {
  readonly problems: readonly string[]
  constructor(problems: string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}
