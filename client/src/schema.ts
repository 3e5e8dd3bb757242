// The types of the REST interface, generated from the OpenAPI document by `npm run generate`, do not edit.
export interface paths {
    "/v1/api-key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the API key
         * @description Does not return the secret, which is shown only once, when the key is created or rotated. Fails with 404 if the account has no active key.
         */
        get: operations["getApiKey"];
        put?: never;
        /**
         * Create the API key
         * @description Only this response contains the secret. Fails with 403 if the account is not enrolled in the beta, and with 409 if it has an active key.
         */
        post: operations["createApiKey"];
        /**
         * Revoke the API key, without a replacement
         * @description The key fails on its next request. Fails with 404 if the account has no active key, or not the one that the request names.
         */
        delete: operations["revokeApiKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api-key/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the API key with a new one
         * @description The old key fails on its next request. Only this response contains the new secret. Fails with 403 if the account is not enrolled in the beta, and with 404 if it has no active key, or not the one that the request names.
         */
        post: operations["rotateApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audit-log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the audit log
         * @description Returns sign-ins, sign-outs, operations on the API key (including rejected ones), and tool calls by assistants. It also returns these actions of operators: exports, suspensions, ended sessions, links of identities and changes of the enrolment. The newest entry comes first. Entries never change and contain no secrets.
         */
        get: operations["listAuditEntries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/contacts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search contacts by name, email or phone
         * @description Case and diacritics do not matter. Every word of the query must be the beginning of a word of `full_name`, `inferred_name`, `email` or `phone`, in any order. A phone also matches by its first digits, with any spacing. Archived contacts are left out. Returns at most 25 contacts: first those whose email, phone or name is the query, then those in which its words are whole words of the name, then of any field, then the rest. Within each group, the newest `updated_at` comes first.
         */
        get: operations["searchContacts"];
        put?: never;
        /**
         * Create a contact
         * @description Returns the whole contact. Fails with 409 if an active contact of the account has the email, compared in lower case, or if the idempotency key was used with another request. Fails with 404 if the contact that this idempotency key created has since been deleted.
         */
        post: operations["createContact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/contacts/{contact_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a contact, archived or not
         * @description Fails with 404 if the account has no such contact.
         */
        get: operations["getContact"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Update a contact's name, email or phone
         * @description A property that is left out does not change. Null clears `email` or `phone`. Returns the whole contact. Fails with 404 if the account has no such contact, and with 409 if the contact is archived or another active contact has the email.
         */
        patch: operations["updateContact"];
        trace?: never;
    };
    "/v1/contacts/{contact_id}/notes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Append a manual note to a contact's timeline
         * @description Returns the timeline note. The contact's `updated_at` does not change. Fails with 404 if the account has no such contact, or if the note that this idempotency key appended has since been deleted. Fails with 409 if the contact is archived or the idempotency key was used with another request.
         */
        post: operations["appendContactNote"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check service health
         * @description Needs no credential, and responds while the public interface is disabled.
         */
        get: operations["checkHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/notes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search the notes of contacts and sessions together
         * @description Every word of the query must be the beginning of a word of the note. Case and diacritics do not matter. The newest `created_at` comes first. Notes of archived contacts are also found.
         */
        get: operations["searchNotes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Browse or search sessions
         * @description The newest `session_date` comes first, and sessions without a date come last. There is no default period. Every word of the query must be the beginning of a word of `title`, `subtitle` or the contact's name. Case and diacritics do not matter. An unknown `contact_id` returns an empty list.
         */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a session with its notes
         * @description Fails with 404 if the account has no such session.
         */
        get: operations["getSession"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/transcript": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a session's transcript
         * @description If the session has no transcript yet, `transcript` is null. Fails with 404 if the account has no such session.
         */
        get: operations["getSessionTranscript"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description The body of every error response. */
        ErrorResult: {
            error: components["schemas"]["ErrorObject"];
        };
        /** @description What went wrong. */
        ErrorObject: {
            /**
             * @description The HTTP status.
             * @example 422
             */
            code: string;
            /**
             * @description A human-readable description of the error. It names every invalid field.
             * @example email: must be at most 254 characters
             */
            message: string;
            /**
             * @description The reason, for programs: one of the names on the page of errors, the same as over Connect and gRPC. Later releases can add reasons.
             * @example INVALID_REQUEST
             */
            reason: string;
            /** @description The invalid parts of the request. Absent if the error is not about a part of it. */
            details?: components["schemas"]["ErrorDetail"][];
        };
        /** @description An invalid part of a request. */
        ErrorDetail: {
            /** @description The parameter, header or property, as the request spells it. Empty for the whole body. */
            field: string;
            /** @description A machine-readable name of the violated rule. */
            rule: string;
            /** @description A human-readable description of the constraint. */
            message: string;
            /**
             * Format: uuid
             * @description The contact that already has the value. Only with `DUPLICATE_EMAIL`.
             */
            contact_id?: string;
        };
        GetApiKeyResult: {
            /** @description The key, without its secret. */
            data: components["schemas"]["ApiKey"];
        };
        /** @description The key to create. */
        CreateApiKeyRequest: {
            /** @description What the key may do. The default is `read_write`. */
            access?: components["schemas"]["ApiKeyAccess"];
        };
        CreateApiKeyResult: {
            /** @description The key, with its secret. */
            data: components["schemas"]["IssuedApiKey"];
        };
        /** @description The key that replaces the current one. */
        RotateApiKeyRequest: {
            /** @description What the new key may do. The default is the access of the old key. */
            access?: components["schemas"]["ApiKeyAccess"];
            /**
             * Format: uuid
             * @description The id of the key to replace. The default is the active key, whichever it is.
             */
            id?: string | null;
        };
        RotateApiKeyResult: {
            /** @description The new key, with its secret. */
            data: components["schemas"]["IssuedApiKey"];
        };
        RevokeApiKeyResult: {
            /** @description The key that was revoked. */
            data: components["schemas"]["RevokedApiKey"];
        };
        ListAuditEntriesResult: {
            /** @description The entries of the page. */
            data: components["schemas"]["AuditEntry"][];
            /** @description The position of the page in the list. */
            pagination: components["schemas"]["Pagination"];
        };
        SearchContactsResult: {
            /** @description The contacts that match, at most 25. */
            data: components["schemas"]["Contact"][];
        };
        /** @description The contact to create. */
        CreateContactRequest: {
            /**
             * @description The name of the person.
             * @example Grace Okafor
             */
            full_name: string;
            /**
             * @description The email address, unique among the active contacts of the account.
             * @example grace.okafor@example.com
             */
            email?: string | null;
            /**
             * @description The phone number, in any format.
             * @example +44 20 7946 0958
             */
            phone?: string | null;
        };
        CreateContactResult: {
            /** @description The contact that was created. */
            data: components["schemas"]["Contact"];
        };
        GetContactResult: {
            /** @description The contact, with its newest notes and sessions. */
            data: components["schemas"]["Contact"];
        };
        /** @description The changes to make to a contact. */
        UpdateContactRequest: {
            /**
             * @description The new name of the person. It cannot be cleared.
             * @example Grace Okafor
             */
            full_name?: string;
            /**
             * @description The new email address, unique among the active contacts of the account; null clears it, over RPC if the mask names it.
             * @example grace.okafor@example.com
             */
            email?: string | null;
            /**
             * @description The new phone number, in any format; null clears it, over RPC if the mask names it.
             * @example +44 20 7946 0958
             */
            phone?: string | null;
        };
        UpdateContactResult: {
            /** @description The updated contact. */
            data: components["schemas"]["Contact"];
        };
        /** @description The note to append. */
        AppendContactNoteRequest: {
            /**
             * @description The text of the note.
             * @example Prefers calls in the morning.
             */
            content: string;
        };
        AppendContactNoteResult: {
            /** @description The note as it is in the contact's timeline. */
            data: components["schemas"]["ContactTimelineNote"];
        };
        CheckHealthResult: {
            /** @description The state of the service. */
            data: components["schemas"]["Health"];
        };
        SearchNotesResult: {
            /** @description The notes of the page. */
            data: components["schemas"]["NoteSearchResult"][];
            /** @description The position of the page in the list. */
            pagination: components["schemas"]["Pagination"];
        };
        ListSessionsResult: {
            /** @description The sessions of the page. */
            data: components["schemas"]["SessionSummary"][];
            /** @description The position of the page in the list. */
            pagination: components["schemas"]["Pagination"];
        };
        GetSessionResult: {
            /** @description The session, with the notes in it. */
            data: components["schemas"]["SessionDetail"];
        };
        GetSessionTranscriptResult: {
            /** @description The transcript, with the recording that it was generated from. */
            data: components["schemas"]["Transcript"];
        };
        /** @description An API key, without its secret. */
        ApiKey: {
            /**
             * Format: uuid
             * @description The id of the key.
             */
            id: string;
            /**
             * @description The first 8 characters of the key, for display.
             * @example rec_4fQz
             */
            prefix: string;
            /** @description What the key may do. */
            access: components["schemas"]["ApiKeyAccess"];
            /**
             * Format: date-time
             * @description When the key was created.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the key was last used, to about a minute. Null if it was never used.
             */
            last_used_at: string | null;
        };
        /** @description A new API key. Its secret is shown only here. */
        IssuedApiKey: {
            /**
             * Format: uuid
             * @description The id of the key.
             */
            id: string;
            /** @description The secret, to be sent as `Authorization: Bearer <key>`. Store it now, because it is not shown again. */
            key: string;
            /**
             * @description The first 8 characters of the key, for display.
             * @example rec_4fQz
             */
            prefix: string;
            /** @description What the key may do. */
            access: components["schemas"]["ApiKeyAccess"];
            /**
             * Format: date-time
             * @description When the key was created.
             */
            created_at: string;
        };
        /** @description An API key that was just revoked. */
        RevokedApiKey: {
            /**
             * Format: uuid
             * @description The id of the key.
             */
            id: string;
            /**
             * Format: date-time
             * @description When the key was revoked.
             */
            revoked_at: string;
        };
        /** @description An entry of the audit log. */
        AuditEntry: {
            /**
             * Format: uuid
             * @description The id of the entry.
             */
            id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            created_at: string;
            /** @description What happened. New kinds can be added. */
            event: components["schemas"]["AuditEvent"];
            /** @description Details, such as the reason of a rejection or the tool that an assistant called. */
            detail: string | null;
            /**
             * @description The first 8 characters of the API key concerned.
             * @example rec_4fQz
             */
            key_prefix: string | null;
            /**
             * @description Who did it: the email of the signed-in user, or the subject if the identity provider reports no email. For the operator of the service: `operator (token 1a2b3c4d)`, with the first digits of a digest of their credential.
             * @example ann.lee@example.com
             */
            person: string | null;
            /** @description The `X-Request-Id` of the request. */
            request_id: string;
            /**
             * @description The address that the request came from.
             * @example 203.0.113.7
             */
            address: string;
        };
        /** @description The position of a page in its list. Each page is a part of the list at the time of its request. */
        Pagination: {
            /**
             * Format: int32
             * @description The maximum number of records on this page.
             */
            limit: number;
            /**
             * Format: int32
             * @description The number of records before this page.
             */
            offset: number;
            /** @description True if records follow this page. */
            has_more: boolean;
            /**
             * Format: int32
             * @description Pass it as `offset` to get the next page. Null if `has_more` is false.
             */
            next_offset: number | null;
        };
        /** @description A person. */
        Contact: {
            /**
             * Format: uuid
             * @description The id of the contact.
             * @example 5f0c3a52-8a1e-4f1e-9a4f-0d7c6b1f2e31
             */
            id: string;
            /**
             * @description The name that a user set.
             * @example Ann Lee
             */
            full_name: string | null;
            /**
             * @description The email address.
             * @example ann.lee@example.com
             */
            email: string | null;
            /**
             * @description The phone number as it was entered.
             * @example +1 415 555 0100
             */
            phone: string | null;
            /** @description Free text about the contact. */
            notes: string | null;
            /** @description Memory of the contact maintained by the system's AI. */
            memory: string | null;
            /**
             * Format: date-time
             * @description When the contact was created.
             * @example 2026-01-12T08:15:30.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the contact was last changed. An appended note does not change it.
             * @example 2026-03-02T10:04:11.250Z
             */
            updated_at: string;
            /** @description The newest 50 manually written notes about the contact, newest first. */
            notes_timeline: components["schemas"]["ContactTimelineNote"][];
            /** @description The contact's 5 most recent past sessions, newest first. */
            recent_sessions: components["schemas"]["ContactRecentSession"][];
            /** @description The name inferred by the system for an imported contact that has no `full_name`. */
            inferred_name: string | null;
            /**
             * Format: date-time
             * @description When the contact was archived. Null for an active contact.
             */
            archived_at: string | null;
        };
        /** @description A manually written note about a contact. */
        ContactTimelineNote: {
            /**
             * Format: uuid
             * @description The id of the note.
             * @example 0b9f6f0c-2a4d-4c55-8f0e-3c1f7f0a9d12
             */
            id: string;
            /**
             * @description The text of the note.
             * @example Prefers calls in the morning.
             */
            content: string;
            /**
             * @description The source of the note. It is `api` for a note appended through this interface.
             * @example api
             */
            source: string;
            /**
             * Format: date-time
             * @description When the note was written.
             * @example 2026-03-02T10:04:11.250Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the note was last changed.
             * @example 2026-03-02T10:04:11.250Z
             */
            updated_at: string;
        };
        /** @description A summary of a past session of a contact. */
        ContactRecentSession: {
            /**
             * Format: uuid
             * @description The id of the session.
             * @example 9d2a7c4e-6f31-4b8a-a5d0-1e8b3c7f4a60
             */
            id: string;
            /**
             * @description The title of the session.
             * @example Budget for the spring
             */
            title: string | null;
            /**
             * @description The subtitle of the session.
             * @example Second part
             */
            subtitle: string | null;
            /**
             * Format: date-time
             * @description When the session started.
             * @example 2026-02-24T14:00:00.000Z
             */
            session_date: string | null;
            /**
             * @description How far the recording has come, in a word of the program that records, such as `completed`.
             * @example completed
             */
            recording_status: string | null;
        };
        /** @description The state of the service. */
        Health: {
            /** @description `ok`, `degraded` if MongoDB or Redis cannot be reached, or `disabled` while the public interface is switched off. */
            status: components["schemas"]["HealthStatus"];
            /**
             * @description The version of the interface.
             * @example 1.0.0
             */
            version: string;
        };
        /** @description A note that matches the search. */
        NoteSearchResult: {
            /** @description Whether a contact or a session owns the note. */
            kind: components["schemas"]["NoteKind"];
            /**
             * Format: uuid
             * @description The id of the contact or session that owns the note.
             * @example 5f0c3a52-8a1e-4f1e-9a4f-0d7c6b1f2e31
             */
            parent_id: string;
            /**
             * @description The contact's `full_name`, else its `inferred_name`, else its `email`; or the session's title.
             * @example Ann Lee
             */
            parent_label: string | null;
            /**
             * @description The session note's `type`, or `user_manual` for a contact's note.
             * @example user_manual
             */
            note_type: string | null;
            /**
             * @description The text of the note, truncated to its first 1,000 characters.
             * @example The contract is signed; the copy went out by post.
             */
            content: string;
            /** @description True if `content` was truncated. */
            truncated: boolean;
            /**
             * Format: date-time
             * @description When the note was written.
             * @example 2026-03-02T10:04:11.250Z
             */
            created_at: string | null;
        };
        /** @description A session in a list. */
        SessionSummary: {
            /**
             * Format: uuid
             * @description The id of the session.
             * @example 9d2a7c4e-6f31-4b8a-a5d0-1e8b3c7f4a60
             */
            id: string;
            /**
             * @description The title, such as that of the calendar event. A search finds its words.
             * @example Budget for the spring
             */
            title: string | null;
            /**
             * @description A second line below the title, whose words a search finds too.
             * @example Second part
             */
            subtitle: string | null;
            /**
             * Format: date-time
             * @description When the session started.
             * @example 2026-02-24T14:00:00.000Z
             */
            session_date: string | null;
            /**
             * Format: date-time
             * @description When the session ended.
             * @example 2026-02-24T14:45:00.000Z
             */
            session_date_end: string | null;
            /**
             * @description How far the recording has come, in a word of the program that records, such as `completed`.
             * @example completed
             */
            recording_status: string | null;
            /**
             * @description Where the session comes from, in a word of the system that wrote it, such as `calendar`.
             * @example calendar
             */
            source: string | null;
            /** @description The program of its video conference, as the system that wrote the session names it. */
            conference_provider: string | null;
            /** @description The contact that the session is with, if any. */
            client: components["schemas"]["SessionClient"] | null;
        };
        /** @description The contact of a session in a list. */
        SessionClient: {
            /**
             * Format: uuid
             * @description The id of the contact.
             * @example 5f0c3a52-8a1e-4f1e-9a4f-0d7c6b1f2e31
             */
            id: string;
            /**
             * @description The name that a user set.
             * @example Ann Lee
             */
            full_name: string | null;
        };
        /** @description A session with its notes. */
        SessionDetail: {
            /**
             * Format: uuid
             * @description The id of the session.
             * @example 9d2a7c4e-6f31-4b8a-a5d0-1e8b3c7f4a60
             */
            id: string;
            /**
             * @description The title, such as that of the calendar event. A search finds its words.
             * @example Budget for the spring
             */
            title: string | null;
            /**
             * @description A second line below the title, whose words a search finds too.
             * @example Second part
             */
            subtitle: string | null;
            /**
             * Format: date-time
             * @description When the session started.
             * @example 2026-02-24T14:00:00.000Z
             */
            session_date: string | null;
            /**
             * Format: date-time
             * @description When the session ended.
             * @example 2026-02-24T14:45:00.000Z
             */
            session_date_end: string | null;
            /**
             * @description How far the recording has come, in a word of the program that records, such as `completed`.
             * @example completed
             */
            recording_status: string | null;
            /**
             * @description Where the session comes from, in a word of the system that wrote it, such as `calendar`.
             * @example calendar
             */
            source: string | null;
            /** @description The program of its video conference, as the system that wrote the session names it. */
            conference_provider: string | null;
            /** @description The contact that the session is with, if any. */
            client: components["schemas"]["SessionDetailClient"] | null;
            /** @description The address of its video conference. */
            conference_url: string | null;
            /** @description The address of an external document. REST names the field after the document provider. */
            google_doc_url: string | null;
            /**
             * Format: date-time
             * @description When the session was created.
             * @example 2026-02-20T09:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the session was last changed.
             * @example 2026-02-24T15:02:40.000Z
             */
            updated_at: string;
            /** @description The notes of the session, by position. */
            notes: components["schemas"]["SessionNote"][];
        };
        /** @description The contact of a session. */
        SessionDetailClient: {
            /**
             * Format: uuid
             * @description The id of the contact.
             * @example 5f0c3a52-8a1e-4f1e-9a4f-0d7c6b1f2e31
             */
            id: string;
            /**
             * @description The name that a user set.
             * @example Ann Lee
             */
            full_name: string | null;
            /**
             * @description The email address.
             * @example ann.lee@example.com
             */
            email: string | null;
        };
        /** @description A note of a session. */
        SessionNote: {
            /**
             * @description The title of the note.
             * @example Next steps
             */
            title: string | null;
            /**
             * @description The title as a slug for URLs.
             * @example next-steps
             */
            title_slug: string | null;
            /**
             * @description The text of the note.
             * @example Send the revised budget by Friday.
             */
            content: string | null;
            /**
             * Format: int32
             * @description The note's position among the notes of its session.
             */
            position: number;
            /** @description The origin of the note. */
            type: components["schemas"]["SessionNoteType"];
        };
        /** @description The transcript of a session. */
        Transcript: {
            /**
             * Format: uuid
             * @description The id of the session.
             * @example 9d2a7c4e-6f31-4b8a-a5d0-1e8b3c7f4a60
             */
            session_id: string;
            /**
             * @description The text. Null if no transcript has been generated yet.
             * @example Ann: Shall we begin with the budget?
             */
            transcript: string | null;
            /** @description The recording that the transcript was generated from. */
            recording: components["schemas"]["Recording"] | null;
        };
        /** @description A recording of a session. */
        Recording: {
            /**
             * Format: uuid
             * @description The id of the recording.
             * @example c3b1a7d8-52e4-4d09-9b6f-7a2e0f8d5c14
             */
            id: string;
            /**
             * Format: double
             * @description Its length in seconds, with fractions.
             */
            duration_seconds: number | null;
            /**
             * Format: date-time
             * @description When it started.
             * @example 2026-02-24T14:00:05.000Z
             */
            recording_started_at: string | null;
            /**
             * Format: date-time
             * @description When it ended.
             * @example 2026-02-24T14:44:50.000Z
             */
            recording_ended_at: string | null;
        };
        /**
         * @description What a key may do.
         * @enum {string}
         */
        ApiKeyAccess: "read_write" | "read_only";
        /**
         * @description The kinds of entries in the audit log.
         * @enum {string}
         */
        AuditEvent: "signed_in" | "signed_out" | "key_created" | "key_rotated" | "key_revoked" | "key_refused" | "tool_called" | "account_suspended" | "account_resumed" | "sessions_ended" | "records_exported" | "other" | "identity_linked" | "enrolment_changed";
        /**
         * @description The states of the service.
         * @enum {string}
         */
        HealthStatus: "ok" | "degraded" | "disabled";
        /**
         * @description The kinds of owners of a note.
         * @enum {string}
         */
        NoteKind: "contact" | "session";
        /**
         * @description The origins of session notes.
         * @enum {string}
         */
        SessionNoteType: "user_manual" | "ai_meeting_prep" | "user_template" | "ai_predefined" | "ai_assistant" | "reader_comment";
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: {
        /**
         * @description The number of requests allowed per second. Short bursts are allowed.
         * @example 10
         */
        "RateLimit-Limit": number;
        /**
         * @description The limit and its window in seconds, as `<limit>;w=<seconds>`.
         * @example 10;w=1
         */
        "RateLimit-Policy": string;
        /** @description Identifies the request in the logs. It is the `X-Request-Id` of the request, if that is valid, or else a new one. */
        "X-Request-Id": string;
        /**
         * @description The number of seconds to wait before you retry.
         * @example 1
         */
        "Retry-After": number;
        /** @description The authentication scheme. */
        "WWW-Authenticate": "Bearer";
        /** @description The path of the new record. */
        Location: string;
        /** @description Present if this is a replay of the response to an earlier request with the same `Idempotency-Key`. */
        "Idempotent-Replayed": "true";
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key, without its secret. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetApiKeyResult"];
                };
            };
            /** @description The session cookie is missing, unknown or expired, or not that of the user whom the dashboard's page shows. */
            401: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description The signed-in user has no account. The operator has suspended the account. */
            403: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description The account has no active API key, or not the one that the request names. */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description A parameter, a header or the body is invalid. */
            422: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Too many requests. */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Any other error. */
            default: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CreateApiKeyRequest"];
            };
        };
        responses: {
            /** @description The key, with its secret. */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateApiKeyResult"];
                };
            };
            /** @description The session cookie is missing, unknown or expired, or not that of the user whom the dashboard's page shows. */
            401: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description The signed-in user has no account. The operator has suspended the account. The request does not come from the dashboard's own pages. The account is not enrolled in the beta. */
            403: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description The account has an active API key. */
            409: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description A parameter, a header or the body is invalid. */
            422: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Too many requests. */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Any other error. */
            default: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
        };
    };
    revokeApiKey: {
        parameters: {
            query?: {
                /** @description The id of the key. The default is the active key, whichever it is. */
                id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key that was revoked. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevokeApiKeyResult"];
                };
            };
            /** @description The session cookie is missing, unknown or expired, or not that of the user whom the dashboard's page shows. */
            401: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description The signed-in user has no account. The operator has suspended the account. The request does not come from the dashboard's own pages. */
            403: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description The account has no active API key, or not the one that the request names. */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description A parameter, a header or the body is invalid. */
            422: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Too many requests. */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Any other error. */
            default: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
        };
    };
    rotateApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RotateApiKeyRequest"];
            };
        };
        responses: {
            /** @description The new key, with its secret. */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RotateApiKeyResult"];
                };
            };
            /** @description The session cookie is missing, unknown or expired, or not that of the user whom the dashboard's page shows. */
            401: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description The signed-in user has no account. The operator has suspended the account. The request does not come from the dashboard's own pages. The account is not enrolled in the beta. */
            403: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description The account has no active API key, or not the one that the request names. */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description A parameter, a header or the body is invalid. */
            422: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Too many requests. */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Any other error. */
            default: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
        };
    };
    listAuditEntries: {
        parameters: {
            query?: {
                /** @description The maximum number of entries to return. */
                limit?: number;
                /** @description The number of entries to skip. */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entries of the page. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListAuditEntriesResult"];
                };
            };
            /** @description The session cookie is missing, unknown or expired, or not that of the user whom the dashboard's page shows. */
            401: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description The signed-in user has no account. The operator has suspended the account. */
            403: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description A parameter, a header or the body is invalid. */
            422: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Too many requests. */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Any other error. */
            default: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
        };
    };
    searchContacts: {
        parameters: {
            query: {
                /**
                 * @description The words to search for. A query without a letter or digit matches nothing.
                 * @example ann
                 */
                query: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The contacts that match, at most 25. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchContactsResult"];
                };
            };
            /** @description No API key was sent. The API key is malformed, unknown, or no longer valid. */
            401: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description A parameter, a header or the body is invalid. */
            422: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Too many requests. */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Any other error. */
            default: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
        };
    };
    createContact: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies the request, so that you can retry it safely. For 24 hours, repeating the request with the same key returns the original response, with `Idempotent-Replayed: true`. The same key with another request gets 409.
                 * @example 8e03978e-40d5-43e8-bc93-6894a57f9324
                 */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateContactRequest"];
            };
        };
        responses: {
            /** @description The contact that was created. */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateContactResult"];
                };
            };
            /** @description No API key was sent. The API key is malformed, unknown, or no longer valid. */
            401: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description The API key is read-only. The operator has suspended the account. */
            403: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description There is no such record in the account. */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Another active contact of the account has the email. The idempotency key was used with another request. */
            409: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description A parameter, a header or the body is invalid. */
            422: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Too many requests. */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description The public interface is switched off. Writes are paused. The service cannot respond in time. */
            503: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Any other error. */
            default: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
        };
    };
    getContact: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the contact. */
                contact_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The contact, with its newest notes and sessions. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetContactResult"];
                };
            };
            /** @description No API key was sent. The API key is malformed, unknown, or no longer valid. */
            401: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description There is no such record in the account. */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description A parameter, a header or the body is invalid. */
            422: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Too many requests. */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Any other error. */
            default: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
        };
    };
    updateContact: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the contact. */
                contact_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateContactRequest"];
            };
        };
        responses: {
            /** @description The updated contact. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateContactResult"];
                };
            };
            /** @description No API key was sent. The API key is malformed, unknown, or no longer valid. */
            401: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description The API key is read-only. The operator has suspended the account. */
            403: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description There is no such record in the account. */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Another active contact of the account has the email. The contact is archived. */
            409: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description A parameter, a header or the body is invalid. */
            422: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Too many requests. */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description The public interface is switched off. Writes are paused. The service cannot respond in time. */
            503: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Any other error. */
            default: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
        };
    };
    appendContactNote: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Identifies the request, so that you can retry it safely. For 24 hours, repeating the request with the same key returns the original response, with `Idempotent-Replayed: true`. The same key with another request gets 409.
                 * @example 8e03978e-40d5-43e8-bc93-6894a57f9324
                 */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the contact. */
                contact_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AppendContactNoteRequest"];
            };
        };
        responses: {
            /** @description The note as it is in the contact's timeline. */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppendContactNoteResult"];
                };
            };
            /** @description No API key was sent. The API key is malformed, unknown, or no longer valid. */
            401: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description The API key is read-only. The operator has suspended the account. */
            403: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description There is no such record in the account. */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description The contact is archived. The idempotency key was used with another request. */
            409: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description A parameter, a header or the body is invalid. */
            422: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Too many requests. */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description The public interface is switched off. Writes are paused. The service cannot respond in time. */
            503: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Any other error. */
            default: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
        };
    };
    checkHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The state of the service. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckHealthResult"];
                };
            };
            /** @description Too many requests. */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Any other error. */
            default: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
        };
    };
    searchNotes: {
        parameters: {
            query: {
                /**
                 * @description The words to search for. A query without a letter or digit matches nothing.
                 * @example contract
                 */
                query: string;
                /** @description The maximum number of notes to return. */
                limit?: number;
                /** @description The number of notes to skip. */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The notes of the page. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchNotesResult"];
                };
            };
            /** @description No API key was sent. The API key is malformed, unknown, or no longer valid. */
            401: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description A parameter, a header or the body is invalid. */
            422: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Too many requests. */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Any other error. */
            default: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
        };
    };
    listSessions: {
        parameters: {
            query?: {
                /**
                 * @description The words to search for. A query without a letter or digit matches nothing.
                 * @example budget
                 */
                query?: string;
                /** @description Keeps only the sessions of this contact. */
                contact_id?: string;
                /**
                 * @description Keeps only sessions at or after this date or time. A date means the first millisecond of its day in UTC. Write it as `2026-01-31` or `2026-01-31T09:30:00Z`.
                 * @example 2026-01-01
                 */
                from?: string;
                /**
                 * @description Keeps only sessions at or before this date or time. A date means the last millisecond of its day in UTC. Write it as `2026-01-31` or `2026-01-31T09:30:00Z`.
                 * @example 2026-12-31T23:59:59Z
                 */
                to?: string;
                /** @description The maximum number of sessions to return. */
                limit?: number;
                /** @description The number of sessions to skip. */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sessions of the page. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListSessionsResult"];
                };
            };
            /** @description No API key was sent. The API key is malformed, unknown, or no longer valid. */
            401: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description A parameter, a header or the body is invalid. */
            422: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Too many requests. */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Any other error. */
            default: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
        };
    };
    getSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the session. */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session, with the notes in it. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetSessionResult"];
                };
            };
            /** @description No API key was sent. The API key is malformed, unknown, or no longer valid. */
            401: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description There is no such record in the account. */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description A parameter, a header or the body is invalid. */
            422: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Too many requests. */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Any other error. */
            default: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
        };
    };
    getSessionTranscript: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the session. */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The transcript, with the recording that it was generated from. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetSessionTranscriptResult"];
                };
            };
            /** @description No API key was sent. The API key is malformed, unknown, or no longer valid. */
            401: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description There is no such record in the account. */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description A parameter, a header or the body is invalid. */
            422: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Too many requests. */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
            /** @description Any other error. */
            default: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResult"];
                };
            };
        };
    };
}
