// What only whoever types the command can mend.

/** Flags or arguments that cannot be meant; ends with 2. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** No API key was given in any way; ends with 3. */
export class MissingKey extends Error {
  override name = 'MissingKey'
}

/** What was named stands for nothing; ends with 4. */
export class NothingFound extends Error {
  override name = 'NothingFound'
}
