// Cron patterns, local times and excepted dates without schemas: for the server and the console.

export * from './cron-in-words.ts'
export * from './cron-pattern.ts'
export * from './day-of.ts'
export * from './except-spans.ts'
export * from './zone-time.ts'
