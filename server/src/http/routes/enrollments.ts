// Enrollments: how devices get their first credential by themselves.

import {
  CreatedEnrollment,
  EnrollmentPage,
  EnrollmentParams,
  NewEnrollment,
  PageQuery,
} from '@jobcast/contract'
import {
  createEnrollment,
  type EnrollmentDeps,
  listEnrollments,
  revokeEnrollment,
} from '../../domain/device/enrollment.ts'
import { callerOf } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { noContent } from '../openapi/openapi.ts'
import { textSlice, toPage } from '../wire/cursor.ts'
import { emptyBodyAsObject } from '../wire/empty-body.ts'
import { toEnrollment } from '../wire/to-wire.ts'

const url = '/job/api/enrollments'

export function addEnrollments(app: App, deps: EnrollmentDeps): void {
  app.route({
    method: 'POST',
    url,
    config: { scopes: ['MANAGE'], refusals: ['J-912'] },
    preValidation: emptyBodyAsObject,
    schema: {
      operationId: 'createEnrollment',
      tags: ['devices'],
      summary: 'Create a token with which devices enroll themselves',
      description: 'A device sends it once, to POST /things/{thing}/enroll, and receives its own token.',
      body: NewEnrollment,
      response: {
        201: CreatedEnrollment,
      },
    },
    handler: async (request, reply) => {
      const { enrollment, enrollmentToken } = await createEnrollment(deps, callerOf(request), request.body)
      return reply.code(201).send({ ...toEnrollment(enrollment), enrollmentToken })
    },
  })

  app.route({
    method: 'GET',
    url,
    config: { scopes: ['READ'] },
    schema: {
      operationId: 'listEnrollments',
      tags: ['devices'],
      summary: 'List enrollments, including expired and revoked ones',
      querystring: PageQuery,
      response: { 200: EnrollmentPage },
    },
    handler: async (request) =>
      toPage(await listEnrollments(deps, callerOf(request), textSlice(request.query)), toEnrollment),
  })

  app.route({
    method: 'DELETE',
    url: `${url}/:enrollmentId`,
    config: { scopes: ['MANAGE'], refusals: ['J-002'] },
    schema: {
      operationId: 'revokeEnrollment',
      tags: ['devices'],
      summary: 'Revoke an enrollment',
      description: 'No more devices can enroll with it. Devices that have enrolled keep their tokens.',
      params: EnrollmentParams,
      response: {
        204: noContent('Revoked'),
      },
    },
    handler: async (request, reply) => {
      await revokeEnrollment(deps, callerOf(request), request.params.enrollmentId)
      return reply.code(204).send(undefined)
    },
  })
}
