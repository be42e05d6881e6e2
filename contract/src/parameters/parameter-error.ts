/** An error in a schema or a value: `message` is the end of a sentence that begins with the field. */
export class ParameterError extends Error {
  override readonly name = 'ParameterError'
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}
