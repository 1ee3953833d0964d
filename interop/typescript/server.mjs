// The contract of examples/interop, served by the TypeScript SDK to both eras.
//
//   node server.mjs      prints "listening on URL"

import { randomBytes, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from '@modelcontextprotocol/node';
import {
    McpServer,
    ResourceTemplate,
    createMcpHandler,
    createRequestStateCodec,
    inputRequired,
    inputResponse,
    isLegacyRequest
} from '@modelcontextprotocol/server';
import { z } from 'zod';

const codec = createRequestStateCodec({ key: randomBytes(32) });

const say = text => ({ content: [{ type: 'text', text }] });

const field = key => inputRequired.elicit({
    message: `${key}?`,
    requestedSchema: { type: 'object', properties: { [key]: { type: 'string' } }, required: [key] }
});

const profile = inputRequired.elicit({
    message: 'Who are you?',
    requestedSchema: {
        type: 'object',
        properties: {
            name: { type: 'string', minLength: 1 },
            age: { type: 'integer', minimum: 18, maximum: 99 },
            newsletter: { type: 'boolean', default: false },
            color: { type: 'string', enum: ['red', 'green'] }
        },
        required: ['name', 'age', 'color']
    }
});

/** The one field of the form `key`, or the question for it. */
function answer(ctx, key) {
    const view = inputResponse(ctx.mcpReq.inputResponses, key);
    if (view.kind !== 'elicit') return { question: inputRequired({ inputRequests: { [key]: field(key) } }) };
    return { action: view.action, value: view.content?.[key] };
}

function offer() {
    const server = new McpServer({ name: 'interop-typescript', version: '1.0.0' }, {
        capabilities: { tools: {}, prompts: {}, resources: {} },
        requestState: { verify: codec.verify }
    });

    server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, ({ text }) => say(`echo: ${text}`));

    server.registerTool('ask_name', { inputSchema: z.object({}) }, (_, ctx) => {
        const { question, action, value } = answer(ctx, 'name');
        if (question) return question;
        return say(action === 'accept' ? `Hello, ${value}!` : `refused: ${action}`);
    });

    server.registerTool('multi', { inputSchema: z.object({}) }, (_, ctx) => {
        const given = ctx.mcpReq.inputResponses;
        const form = inputResponse(given, 'profile');
        const capital = inputResponse(given, 'capital');
        const roots = inputResponse(given, 'roots');
        if (form.kind !== 'elicit' || capital.kind !== 'sampling' || roots.kind !== 'roots') {
            const messages = [{ role: 'user', content: { type: 'text', text: 'What is the capital of France?' } }];
            return inputRequired({
                inputRequests: {
                    profile,
                    capital: inputRequired.createMessage({ messages, maxTokens: 100 }),
                    roots: inputRequired.listRoots()
                }
            });
        }
        return say(JSON.stringify({
            profile: { newsletter: false, ...form.content },
            sample: capital.result.content.text,
            roots: roots.roots
        }));
    });

    server.registerTool('two_rounds', { inputSchema: z.object({}) }, async (_, ctx) => {
        const kept = ctx.mcpReq.requestState();
        if (kept) {
            const { question, value } = answer(ctx, 'second');
            return question ?? say(`first=${kept.first};second=${value}`);
        }
        const { question, value } = answer(ctx, 'first');
        if (question) return question;
        return inputRequired({
            inputRequests: { second: field('second') },
            requestState: await codec.mint({ first: value }, ctx)
        });
    });

    server.registerTool('shed', { inputSchema: z.object({ times: z.number().int().default(2) }) }, async ({ times }, ctx) => {
        const round = ctx.mcpReq.requestState()?.round ?? 0;
        if (round >= times) return say(`done after ${times} shed rounds`);
        return inputRequired({ requestState: await codec.mint({ round: round + 1 }, ctx) });
    });

    server.registerTool('ask_url', { inputSchema: z.object({}) }, (_, ctx) => {
        const view = inputResponse(ctx.mcpReq.inputResponses, 'signin');
        if (view.kind === 'elicit') return say(`url: ${view.action}`);
        const signin = inputRequired.elicitUrl({ message: 'Please sign in', url: 'https://example.com/signin' });
        return inputRequired({ inputRequests: { signin } });
    });

    server.registerPrompt('brief', { argsSchema: z.object({ topic: z.string() }) }, ({ topic }, ctx) => {
        const { question, value } = answer(ctx, 'audience');
        if (question) return question;
        const text = `Brief about ${topic} for ${value}`;
        return { messages: [{ role: 'user', content: { type: 'text', text } }] };
    });

    server.registerResource('note', new ResourceTemplate('note://{id}', { list: undefined }), {}, (uri, { id }, ctx) => {
        const { question, value } = answer(ctx, 'pin');
        return question ?? { contents: [{ uri: uri.href, text: `note ${id} unlocked with ${value}` }] };
    });

    return server;
}

const modern = toNodeHandler(createMcpHandler(offer, { legacy: 'reject' }));

/** The sessions of the older era, by id: only they can carry questions. */
const sessions = new Map();

async function legacy(req, res, body) {
    let transport = sessions.get(req.headers['mcp-session-id']);
    if (!transport) {
        transport = new NodeStreamableHTTPServerTransport({
            sessionIdGenerator: randomUUID,
            onsessioninitialized: id => void sessions.set(id, transport)
        });
        await offer().connect(transport);
    }
    await transport.handleRequest(req, res, body);
}

const http = createServer(async (req, res) => {
    try {
        const chunks = await Array.fromAsync(req);
        const body = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : undefined;
        const old = await isLegacyRequest(await toWebRequest(req, body), body);
        await (old ? legacy : modern)(req, res, body);
    } catch (error) {
        console.error(error);
        res.destroy();
    }
});
http.listen(0, '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${http.address().port}/mcp`));
