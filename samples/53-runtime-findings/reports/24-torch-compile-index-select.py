import torch
data = torch.tensor([1, 2, 3], dtype=torch.int64)
indices = torch.tensor([-1], dtype=torch.int64)
print('expected:', 'a refusal: negative index; index[0] = -1; valid: 0 … 2; negative indices do not count from the end here', flush=True)
def call(data, indices):
    return torch.index_select(input=data, index=indices, dim=0)
call = torch.compile(call, dynamic=False)
output = call(data, indices)
print("seen:    ", output.tolist(), output.dtype, output.shape)
