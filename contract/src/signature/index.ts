// Signed jobs without schemas and without keys: for the server, the agent and the command line.

export * from './canonical-json.ts'
export * from './envelope.ts'
export { decodeBase64, encodeBase64, SignatureError } from './read-values.ts'
export * from './signed-job.ts'
