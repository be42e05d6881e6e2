// The selector language without schemas: for threads of the server, the console and the command line.

export * from './attribute-rules.ts'
export * from './compare-values.ts'
export * from './compile-selector.ts'
export * from './matches-selector.ts'
export * from './selector.ts'
export * from './term-text.ts'
