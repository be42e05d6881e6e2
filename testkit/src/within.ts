/** A promise that never settles fails the test with a message. `ms` is a failsafe, far above what it should take. */
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
