// Errors that the user can fix by calling the command differently.

/** Invalid flags or arguments; exits with 2. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** No API key was given; exits with 3. */
export class MissingKey extends Error {
  override name = 'MissingKey'
}

/** Nothing matches the arguments; exits with 4. */
export class NothingFound extends Error {
  override name = 'NothingFound'
}
