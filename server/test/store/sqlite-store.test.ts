import { exerciseStore } from './exercise-store.ts'
import { openSqliteUnderTest } from './sqlite-under-test.ts'

exerciseStore('SQLite', openSqliteUnderTest)
