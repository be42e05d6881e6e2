// Parameters of jobs and placeholders in their documents, without schemas of the wire: for the server, the agent, the
// console and the command line.

export * from './document-files.ts'
export * from './linear-pattern.ts'
export * from './parameter-error.ts'
export * from './parameter-property.ts'
export * from './parameter-schema.ts'
export * from './parameter-values.ts'
export * from './pattern-cache.ts'
export * from './pattern-syntax.ts'
export * from './placeholder.ts'
export * from './template.ts'
