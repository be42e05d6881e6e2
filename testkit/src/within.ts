/** Fails the test with a message if a promise never settles. `ms` is a failsafe, far above the expected time. */
export async function within<T>(ms: number, what: string | (() => string), promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    late.reject(new Error(`after ${ms} ms: ${typeof what === 'string' ? what : what()}`))
  }, ms)
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
