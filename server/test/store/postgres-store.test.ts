import { sharedPostgres } from '../support/postgres-server.ts'
import { exerciseStore } from './exercise-store.ts'
import { openPostgresUnderTest } from './postgres-under-test.ts'

const server = await sharedPostgres()

exerciseStore('PostgreSQL', (t) => openPostgresUnderTest(t, server))
