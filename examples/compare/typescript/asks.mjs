import { McpServer, inputRequired, inputResponse } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const say = text => ({ content: [{ type: 'text', text }] });

serveStdio(() => {
    const server = new McpServer({ name: 'deployer', version: '1.0.0' });
    server.registerTool(
        'deploy',
        {
            description: 'Deploys a service after asking why',
            inputSchema: z.object({ service: z.string() })
        },
        ({ service }, ctx) => {
            const answer = inputResponse(ctx.mcpReq.inputResponses, 'reason');
            if (answer.kind !== 'elicit') {
                const reason = inputRequired.elicit({
                    message: `Why deploy ${service}?`,
                    requestedSchema: {
                        type: 'object',
                        properties: { reason: { type: 'string' } },
                        required: ['reason']
                    }
                });
                return inputRequired({ inputRequests: { reason } });
            }
            if (answer.action !== 'accept') return say('the user declined');
            return say(`${service} deployed: ${answer.content.reason}`);
        }
    );
    return server;
});
